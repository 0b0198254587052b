package schema

// saturatedBelow is the share of the asked concurrency below which a client did not hold the load.
const saturatedBelow = .8

// Saturated reports whether a client was the bottleneck: on average it had fewer requests in flight than it was asked
// to keep. asked and reached are concurrencies. A client that holds the load still loses some: requests ramp up at
// the beginning and run dry at the end, and a finished one is replaced a moment later; a fifth leaves room for that.
// The bound is that of the lint on saturated clients, so that what is said while measuring is what the verdict says
// later.
func Saturated(asked, reached float64) bool { return reached < saturatedBelow*asked }
