package sweep

// Limits are what a model on a device can take.
type Limits struct {
	Context     int // tokens of a request, prompt and answer
	Concurrency int // requests at once
	AllUsers    int // tokens of all requests at once; 0: Context
	LongOnly    bool
}

// pairs are the lengths of the standard sweep, as tt-inference-server's benchmark_config.py derives them since v0.5.
func pairs() [][2]int {
	return [][2]int{{128, 128}, {128, 1024}, {1024, 128}, {2048, 128}, {4096, 128}, {8192, 128}, {8192, 1024}, {10000, 1024}, {16384, 128}, {32768, 128}, {65536, 128}, {131072, 128}}
}

// Standard derives a sweep from limits: every pair of lengths that fits the context, alone and at the highest concurrency that fits
// the memory of all users. Points of one request at a time come first.
func Standard(l Limits) []Workload {
	all := l.AllUsers
	if all == 0 {
		all = l.Context
	}
	var alone, together []Workload
	for _, p := range pairs() {
		isl, osl := p[0], p[1]
		if isl+osl > l.Context {
			continue
		}
		alone = append(alone, Workload{ISL: isl, OSL: osl, Concurrency: 1, Requests: Requests(isl, osl, 1)})
		if c := min(all/(isl+osl), l.Concurrency); c > 1 {
			together = append(together, Workload{ISL: isl, OSL: osl, Concurrency: c, Requests: Requests(isl, osl, c)})
		}
	}
	return append(alone, together...)
}

// Requests is how many a workload of the standard sweep makes, as tt-inference-server derives it: fewer of the long ones, which at one
// at a time leaves one or two. Statistics that so few do not carry are not printed.
func Requests(isl, osl, concurrency int) int {
	switch {
	case osl > 1024 || isl > 16384:
		return concurrency
	case isl > 4096:
		return 2 * concurrency
	case osl > 128 || isl > 128:
		return 4 * concurrency
	}
	return 8 * concurrency
}
