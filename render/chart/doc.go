// Package chart resolves what a chart shows into geometry: ranges, ticks, labels, positions, roles.
//
// In flow series of values over releases and target limits; out flows a [Chart], which two drawers draw alike: package svg
// into the page, package echarts as an option that replaces the picture in place. Because both read one geometry, the
// picture does not move when the second takes over.
//
// Rules decided here: an axis begins where its caption says; a logarithmic axis says so; a missing value is a gap and
// never interpolated; at most five lines share a chart; targets off the scale are named at its edge instead of
// stretching it. Data only: no drawing, no markup, no clock.
package chart
