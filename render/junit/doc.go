// Package junit writes the decision on a release as a JUnit XML test report, which CI systems show.
//
// It takes a review of the gate and writes a suite for each model and device with a case for each verdict that decides
// something. A report is green exactly when the gate passes. The package must not know the command line.
package junit
