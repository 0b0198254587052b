// Package spec reads what is stated about a model on a device before a server runs: its limits, its image, its
// commits.
//
// In: tt-inference-server's runtime specifications, models.yaml, and a server's command line. Out: a [Model]. Nothing
// is guessed here: a limit that is not stated is zero. A caller that assumes a value instead must report it.
package spec
