// Command boards measures the ranking of models by evals: its standard errors against the public tables of "Measuring
// all the noises of LLM Evals", its pairs on MTEB(eng, v2), the coverage of its intervals, how often it separates equal
// models, and how long it takes.
//
//	go run ./.ci/measure/boards [--noises GIT_DIR] [--mteb GIT_DIR]
//
// GIT_DIR are clones of all-the-noises/all-the-noises.github.io and embeddings-benchmark/results, bare or not. Draws
// are by fixed seeds; the exit code is 1 where a goal is missed.
package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/board"
	"github.com/ttreport/ttreport/targets/judge"
)

// table prints measurements and remembers missed goals.
type table struct{ missed bool }

func (t *table) row(what, got, goal string, ok bool) {
	mark := "ok"
	if !ok {
		mark, t.missed = "MISSED", true
	}
	fmt.Printf("| %-58s | %-28s | %-22s | %-6s |\n", what, got, goal, mark)
}

func main() {
	noises := pflag.String("noises", "", "git folder of all-the-noises/all-the-noises.github.io")
	mteb := pflag.String("mteb", "", "git folder of embeddings-benchmark/results")
	pflag.Parse()
	t := &table{}
	t.row("measure", "result", "goal", true)
	var err error
	if *noises != "" {
		err = measureNoises(t, *noises)
	}
	if *mteb != "" && err == nil {
		err = measureMTEB(t, *mteb)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	split(t)
	coverage(t)
	equal(t)
	speed(t)
	if t.missed {
		os.Exit(1)
	}
}

// blobs calls each with the files of a git folder's newest commit whose path matches.
func blobs(dir string, match func(path string) bool, each func(path string, data []byte) error) error {
	list, err := exec.Command("git", "-C", dir, "ls-tree", "-r", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("git ls-tree in %s: %w", dir, err)
	}
	var ids, paths []string
	for line := range strings.Lines(string(list)) {
		meta, path, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if match(path) {
			ids, paths = append(ids, strings.Fields(meta)[2]), append(paths, path)
		}
	}
	cmd := exec.Command("git", "-C", dir, "cat-file", "--batch")
	cmd.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	r := bufio.NewReader(out)
	for _, path := range paths {
		var id, kind string
		size := 0
		head, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		if _, err := fmt.Sscan(head, &id, &kind, &size); err != nil {
			continue // absent from this clone
		}
		data := make([]byte, size+1)
		if _, err := io.ReadFull(r, data); err != nil {
			return err
		}
		if err := each(path, data[:size]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return cmd.Wait()
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

// split is the root mean square of the parts of the noise from two samples an item against those from 64.
func split(t *table) {
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
		t.row([]string{"SE_x", "SE_pred"}[i]+" from two samples an item, against 64", fmt.Sprintf("%+.1f %%", 100*off),
			"within 1 %", math.Abs(off) <= .01)
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
			t.row(what, fmt.Sprintf("%.1f %%", 100*share), "94 to 96 %", share >= .94 && share <= .96)
		}
	}
}

// equal is how often a board of equal models separates any two.
func equal(t *table) {
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
		t.row(fmt.Sprintf("boards of %d equal models that separate any two", models), fmt.Sprintf("%.1f %%", 100*share),
			"at most 5 %", share <= .05)
	}
	const models, tasks, trials = 8, 8, 1000
	r, wrong := rand.New(rand.NewPCG(2, tasks)), 0
	mean, each := judge.Split(tasks)
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
	t.row("boards of 8 equal models x 8 tasks that do so in any column", fmt.Sprintf("%.1f %%", 100*share), "at most 5 %",
		share <= .05)
}

// used is the CPU time of the process: what else runs on the machine is not measured.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// speed ranks 400 models in each of 40 tasks and by their mean; of half of the tasks the answers are known.
func speed(t *table) {
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
		judge.RankScores(list, 1)
	}
	b, _ := judge.RankMeans(rows, 1)
	groups := len(b.Groups())
	all := time.Since(start)
	t.row("400 models x 40 tasks: every task, the mean, groups", fmt.Sprintf("%.1f s of CPU, %.1f s",
		(used()-before).Seconds(), all.Seconds()), "under 5 s", used()-before < 5*time.Second)
	t.row("its groups of ties", fmt.Sprint(groups), "", true)
}
