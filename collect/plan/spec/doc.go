// Package spec reads what is stated of a model on a device before any server runs: its limits, its image, its commits.
//
// In: tt-inference-server's runtime specifications, models.yaml, and a server's command line. Out: a [Model]. Nothing
// is guessed here: what nothing states is zero; a caller that assumes a value instead must report it.
package spec
