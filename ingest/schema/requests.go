package schema

// Bounds beyond which the numbers of a workload are not what was asked for, whoever looks at them.
const (
	MostFailures = .01 // share of requests that may fail: statistics are of the others
	LeastAnswer  = .9  // of the length that an answer is asked for or compared with
)
