package sweep

import (
	"fmt"
	"strconv"
	"strings"
)

// Batches reads TensorRT-LLM's lists, "1;8;64" and "60,20;128,20" (benchmarks/python/benchmark.py --batch_size, --input_output_len): every
// batch with every pair of lengths. A batch is as many requests at once; a server gets four waves of them.
func Batches(sizes, lengths string) ([]Workload, error) {
	var out []Workload
	for _, pair := range strings.Split(lengths, ";") {
		in, answer, ok := strings.Cut(strings.TrimSpace(pair), ",")
		isl, err1 := strconv.Atoi(strings.TrimSpace(in))
		osl, err2 := strconv.Atoi(strings.TrimSpace(answer))
		if !ok || err1 != nil || err2 != nil || isl < 1 || osl < 1 {
			return nil, fmt.Errorf(`lengths %q: expected pairs such as "60,20;128,20"`, lengths)
		}
		for _, size := range strings.Split(sizes, ";") {
			c, err := strconv.Atoi(strings.TrimSpace(size))
			if err != nil || c < 1 {
				return nil, fmt.Errorf(`batch sizes %q: expected numbers such as "1;8;64"`, sizes)
			}
			out = append(out, Workload{ISL: isl, OSL: osl, Concurrency: c, Requests: max(8, 4*c)})
		}
	}
	return out, nil
}
