package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/board"
	ranking "github.com/ttreport/ttreport/targets/judge"
)

// boards measures the ranking of models by evals: the parts of the noise, the coverage of intervals, how often equal
// models are separated, and how long it takes.
func boards(t *table) {
	noiseParts(t)
	coverage(t)
	equalModels(t)
	rankingTime(t)
}

// answers draws the shares of right ones among k samples for models of one ability, on items whose difficulty they
// share; in clusters of four, what tells the models apart is of the cluster.
func answers(r *rand.Rand, models, n, k int, clustered bool) []board.Items {
	shares := make([][]float64, models)
	own := make([]float64, models)
	var cluster []int
	for i := range n {
		difficulty := r.NormFloat64()
		for m := range models {
			if !clustered || i%4 == 0 {
				own[m] = r.NormFloat64()
			}
			p, right := 1/(1+math.Exp(-difficulty-own[m])), 0.
			for range k {
				if r.Float64() < p {
					right++
				}
			}
			shares[m] = append(shares[m], right/float64(k))
		}
		cluster = append(cluster, i/4)
	}
	out := make([]board.Items, models)
	for m := range out {
		if out[m] = board.Shares(shares[m], k); clustered {
			out[m].Cluster = cluster
		}
	}
	return out
}

// noiseParts is the root mean square of the parts of the noise from two samples an item against those from 64.
func noiseParts(t *table) {
	r := rand.New(rand.NewPCG(7, 8))
	big := answers(r, 1, 200000, 64, false)[0]
	truth, got := big.Noise(), [2]float64{}
	const trials, n = 4000, 200
	for range trials {
		x := answers(r, 1, n, 2, false)[0]
		parts := x.Noise()
		got[0] += parts.Data * parts.Data * n / trials
		got[1] += parts.Prediction * parts.Prediction * n / trials
	}
	for i, part := range []float64{truth.Data, truth.Prediction} {
		off := math.Sqrt(got[i]/(part*part*200000)) - 1
		t.row(math.Abs(off) <= .01, []string{"SE_x", "SE_pred"}[i]+" from two samples an item, against 64", "within 1 %",
			"%+.1f %%", 100*off)
	}
}

// coverage is how often intervals of differences contain the true one, zero.
func coverage(t *table) {
	const trials, n = 10000, 200
	for _, clustered := range []bool{false, true} {
		for _, k := range []int{1, 4, 16} {
			r := rand.New(rand.NewPCG(1, uint64(k)))
			covered := 0
			for range trials {
				x := answers(r, 2, n, k, clustered)
				d, _ := board.Paired(&x[0], &x[1])
				if lo, hi := d.Interval(); lo <= 0 && hi >= 0 {
					covered++
				}
			}
			what := fmt.Sprintf("coverage of 95 %% intervals, k = %d", k)
			if clustered {
				what += ", clusters of four"
			}
			share := float64(covered) / trials
			t.row(share >= .94 && share <= .96, what, "94 to 96 %", "%.1f %%", 100*share)
		}
	}
}

// equalModels is how often a board of equal models separates any two.
func equalModels(t *table) {
	for _, models := range []int{5, 20} {
		r := rand.New(rand.NewPCG(2, uint64(models)))
		const trials = 2000
		wrong := 0
		for range trials {
			x := answers(r, models, 200, 1, false)
			b := board.Rank(models, 1, func(i, j int) (board.Diff, bool) { return board.Paired(&x[i], &x[j]) })
			if b.Separated() > 0 {
				wrong++
			}
		}
		share := float64(wrong) / trials
		t.row(share <= .05, fmt.Sprintf("boards of %d equal models that separate any two", models), "at most 5 %", "%.1f %%",
			100*share)
	}
	const models, tasks, trials = 8, 8, 1000
	r, wrong := rand.New(rand.NewPCG(2, tasks)), 0
	mean, each := ranking.Split(tasks)
	for range trials {
		var list [tasks][]board.Items
		separated := 0
		for k := range list {
			list[k] = answers(r, models, 200, 1, false)
			pair := func(i, j int) (board.Diff, bool) { return board.Paired(&list[k][i], &list[k][j]) }
			separated += board.Rank(models, each, pair).Separated()
		}
		separated += board.Rank(models, mean, func(i, j int) (board.Diff, bool) {
			var diffs []board.Diff
			for k := range list {
				d, _ := board.Paired(&list[k][i], &list[k][j])
				diffs = append(diffs, d)
			}
			return board.Mean(diffs), true
		}).Separated()
		if separated > 0 {
			wrong++
		}
	}
	share := float64(wrong) / trials
	t.row(share <= .05, "boards of 8 equal models x 8 tasks that do so in any column", "at most 5 %", "%.1f %%", 100*share)
}

// used is the CPU time of the process: what else runs on the machine is not measured.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rankingTime ranks 400 models in each of 40 tasks and by their mean; of half of the tasks the answers are known.
func rankingTime(t *table) {
	const models, tasks, items = 400, 40, 500
	r := rand.New(rand.NewPCG(3, 4))
	rows := make([][]*columns.ScoreRow, tasks)
	for k := range rows {
		difficulty := make([]float64, items)
		for i := range difficulty {
			difficulty[i] = r.NormFloat64()
		}
		for m := range models {
			o := &schema.Outcomes{Items: "0123456789abcdef", Right: make([]bool, items)}
			right := 0.
			for i := range items {
				if o.Right[i] = r.NormFloat64() < difficulty[i]+float64(m)/200; o.Right[i] {
					right++
				}
			}
			s := schema.Score{Task: fmt.Sprint(k), Metric: "acc", N: items, Value: schema.Num(right / items)}
			if k%2 == 0 {
				s.Outcomes = o
			}
			rows[k] = append(rows[k], &columns.ScoreRow{Score: s})
		}
	}
	start, before := time.Now(), used()
	for _, list := range rows {
		ranking.RankScores(list, 1)
	}
	b, _ := ranking.RankMeans(rows, 1)
	groups, all, cpu := len(b.Groups()), time.Since(start), used()-before
	t.row(cpu < 5*time.Second, "400 models x 40 tasks: every task, the mean, groups", "under 5 s",
		"%.1f s of CPU, %.1f s; %d groups of ties", cpu.Seconds(), all.Seconds(), groups)
}
