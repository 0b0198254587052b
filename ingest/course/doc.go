// Package course joins what was read beside a measurement, the server's gauges and power, with the course of its
// requests.
//
// In: a point and the samples of its sidecar, which begin with the first request. Out: the point with slices of all of
// them, and with its power and energy a token. The package must not know readers, servers or pictures.
package course
