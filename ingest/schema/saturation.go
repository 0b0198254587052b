package schema

// saturatedBelow is the share of the requested concurrency below which a client counts as saturated.
const saturatedBelow = .8

// Saturated reports whether a client was the bottleneck: on average it had fewer requests in flight than requested.
// asked and reached are concurrencies. A client that keeps up the load is still somewhat below it: requests ramp up
// at the beginning and down at the end, and a finished one is replaced with a delay; the margin of 20 % allows for
// that. The lint on saturated clients uses the same bound, so that the note while measuring and the lint agree.
func Saturated(asked, reached float64) bool { return reached < saturatedBelow*asked }
