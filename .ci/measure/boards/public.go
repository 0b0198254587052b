package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/targets/board"
	"gonum.org/v1/gonum/stat"
)

// measureNoises recomputes SE(A), SE_x(A) and SE_pred(A) of every model and benchmark from its answers by item. The
// model tables leave the parts out where one sample of each item is known.
func measureNoises(t *table, dir string) error {
	answers := map[string]map[string]*board.Items{} // by folder and benchmark, by model
	samples := map[string]map[string][]float64{}
	stated := map[string]map[string][3]float64{}
	err := blobs(dir, func(p string) bool {
		name := path.Base(p)
		return strings.HasPrefix(name, "input_table_") || strings.HasPrefix(name, "model_table_")
	}, func(p string, data []byte) error {
		rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		if err != nil {
			return err
		}
		at := map[string]int{}
		for i, head := range rows[0] {
			at[head] = i
		}
		id := path.Dir(p) + path.Base(p)[len("input_table_"):]
		number := func(row []string, name string) float64 {
			v, err := strconv.ParseFloat(row[at[name]], 64)
			if err != nil {
				return math.NaN()
			}
			return v
		}
		if strings.HasPrefix(path.Base(p), "model") {
			stated[id] = map[string][3]float64{}
			for _, row := range rows[1:] {
				stated[id][row[at["model"]]] = [3]float64{number(row, "SE(A)"), number(row, "SE_x(A)"), number(row, "SE_pred(A)")}
			}
			return nil
		}
		answers[id], samples[id] = map[string]*board.Items{}, map[string][]float64{}
		for _, row := range rows[1:] {
			model := row[at["model"]]
			if answers[id][model] == nil {
				answers[id][model] = &board.Items{}
			}
			x := answers[id][model]
			x.Means = append(x.Means, number(row, "pass1"))
			samples[id][model] = append(samples[id][model], number(row, "count"))
		}
		return nil
	})
	if err != nil {
		return err
	}
	compareNoises(t, stated, answers, samples)
	return nil
}

// compareNoises prints by how much the recomputed errors differ from those that are stated.
func compareNoises(
	t *table, stated map[string]map[string][3]float64, answers map[string]map[string]*board.Items,
	samples map[string]map[string][]float64,
) {
	cells, worst, absent := 0, [3]float64{}, 0
	for id, models := range stated {
		for model, want := range models {
			if answers[id][model] == nil {
				absent++
				continue
			}
			cells++
			// of one sample the tables say that all noise is of the data
			k := math.Max(2, math.Round(stat.Mean(samples[id][model], nil)))
			x := board.Shares(answers[id][model].Means, int(k))
			n := x.Noise()
			bare := n.Prediction * n.Prediction * (k - 1) / k
			for i, got := range []float64{n.SE, math.Sqrt(math.Max(0, n.SE*n.SE-bare)), math.Sqrt(bare)} {
				if !(math.Abs(got-want[i]) <= 1e-9) { // of zeros
					worst[i] = math.Max(worst[i], math.Abs(got/want[i]-1))
				}
			}
		}
	}
	for i, name := range []string{"SE(A)", "SE_x(A), without the correction", "SE_pred(A), without the correction"} {
		t.row("all the noises: "+name, fmt.Sprintf("%d cells, worst %.2g %%", cells, 100*worst[i]), "2,517 within 1 %",
			worst[i] <= .01 && cells == 2517)
	}
	t.row("its models without answers by item in the clone", fmt.Sprint(absent), "", true)
}

// mtebTasks are the tasks of MTEB(eng, v2).
const mtebTasks = `AmazonCounterfactualClassification
	ArXivHierarchicalClusteringP2P ArXivHierarchicalClusteringS2S ArguAna
	AskUbuntuDupQuestions BIOSSES Banking77Classification BiorxivClusteringP2P.v2 CQADupstackGamingRetrieval
	CQADupstackUnixRetrieval ClimateFEVERHardNegatives FEVERHardNegatives FiQA2018 HotpotQAHardNegatives ImdbClassification
	MTOPDomainClassification MassiveIntentClassification MassiveScenarioClassification MedrxivClusteringP2P.v2
	MedrxivClusteringS2S.v2 MindSmallReranking SCIDOCS SICK-R STS12 STS13 STS14 STS15 STS17 STS22.v2 STSBenchmark
	SprintDuplicateQuestions StackExchangeClustering.v2 StackExchangeClusteringP2P.v2 SummEvalSummarization.v2 TRECCOVID
	Touche2020Retrieval.v3 ToxicConversationsClassification TweetSentimentExtractionClassification
	TwentyNewsgroupsClustering.v2 TwitterSemEval2015 TwitterURLCorpus`

// readMTEB has the scores of the models with all tasks, best mean first: of the test split the English part where it is
// apart, of the last revision that has it.
func readMTEB(dir string) ([][]float64, error) {
	tasks := strings.Fields(mtebTasks)
	models := map[string]map[string]float64{}
	err := blobs(dir, func(p string) bool {
		part := strings.Split(p, "/")
		return len(part) == 4 && part[0] == "results" && slices.Contains(tasks, strings.TrimSuffix(part[3], ".json"))
	}, func(p string, data []byte) error {
		var file struct {
			Scores map[string][]struct {
				Subset string   `json:"hf_subset"`
				Score  *float64 `json:"main_score"`
			} `json:"scores"`
		}
		if err := json.Unmarshal(bytes.ReplaceAll(data, []byte("NaN"), []byte("null")), &file); err != nil {
			return err
		}
		var english, all []float64
		for _, s := range file.Scores["test"] {
			if s.Score == nil {
				continue
			}
			if all = append(all, *s.Score); slices.Contains([]string{"default", "en", "en-en"}, s.Subset) {
				english = append(english, *s.Score)
			}
		}
		if len(english) > 0 {
			all = english
		}
		if len(all) == 0 {
			return nil
		}
		part := strings.Split(p, "/")
		if models[part[1]] == nil {
			models[part[1]] = map[string]float64{}
		}
		models[part[1]][strings.TrimSuffix(part[3], ".json")] = stat.Mean(all, nil)
		return nil
	})
	var out [][]float64
	for _, scores := range models {
		if len(scores) == len(tasks) {
			var row []float64
			for _, t := range tasks {
				row = append(row, scores[t])
			}
			out = append(out, row)
		}
	}
	slices.SortFunc(out, func(a, b []float64) int {
		if stat.Mean(a, nil) != stat.Mean(b, nil) {
			return int(math.Copysign(1, stat.Mean(b, nil)-stat.Mean(a, nil)))
		}
		return slices.Compare(a, b)
	})
	return out, err
}

// measureMTEB counts the pairs that are separated, by the percentile bootstrap over tasks of embeddings-benchmark/mteb
// #5117, one pair at a time, and by the board.
func measureMTEB(t *table, dir string) error {
	models, err := readMTEB(dir)
	if err != nil {
		return err
	}
	n, tasks := len(models), 0
	if n > 0 {
		tasks = len(models[0])
	}
	bootstrap := bootstrapOver(models, tasks)
	single := func(i, j int) bool {
		d, _ := board.Over(models[i], models[j])
		return d.P <= .05
	}
	b := board.Rank(n, 1, func(i, j int) (board.Diff, bool) { return board.Over(models[i], models[j]) })
	family := func(i, j int) bool { return !b.Tied(i, j) }
	pairs := n * (n - 1) / 2
	for _, x := range []struct {
		what      string
		separated func(i, j int) bool
		anchor    bool
	}{{"bootstrap", bootstrap, true}, {"t, one pair", single, false}, {"t, Holm", family, false}} {
		all, adjacent, first := separations(n, x.separated)
		what := fmt.Sprintf("MTEB(eng, v2), %d models, %s: ", n, x.what)
		goals := [3]string{}
		ok := [3]bool{true, true, true}
		if x.anchor {
			goals = [3]string{"16,306 of 19,110 ±0.3 %", "190 of 195, ±1", "3"} // drawn by another seed
			ok = [3]bool{math.Abs(float64(all)/16306-1) <= .003 && pairs == 19110,
				adjacent >= 189 && adjacent <= 191, first == 3}
		}
		t.row(what+"separated", fmt.Sprintf("%d of %d", all, pairs), goals[0], ok[0])
		t.row(what+"adjacent not", fmt.Sprintf("%d of %d", adjacent, n-1), goals[1], ok[1])
		t.row(what+"tied with first", fmt.Sprint(first), goals[2], ok[2])
	}
	return nil
}

// bootstrapOver draws the tasks of models with replacement and returns whether two of them are apart in 95 % of draws.
func bootstrapOver(models [][]float64, tasks int) func(i, j int) bool {
	const draws = 10000
	r := rand.New(rand.NewPCG(5, 6))
	drawn := make([][]float32, len(models))
	for i := range drawn {
		drawn[i] = make([]float32, draws)
	}
	for d := range draws {
		count := make([]int, tasks)
		for range tasks {
			count[r.IntN(tasks)]++
		}
		for i, scores := range models {
			sum := 0.
			for k, c := range count {
				sum += float64(c) * scores[k]
			}
			drawn[i][d] = float32(sum)
		}
	}
	return func(i, j int) bool {
		behind := 0
		for d, v := range drawn[i] {
			if v <= drawn[j][d] {
				behind++
			}
		}
		return behind <= draws/40 || behind >= draws-draws/40
	}
}

// separations counts the pairs of models that are separated, the adjacent ones that are not, and those tied with the
// first.
func separations(n int, separated func(i, j int) bool) (all, adjacent, first int) {
	for i := range n {
		for j := range i {
			switch is := separated(i, j); {
			case is:
				all++
			default:
				if i == j+1 {
					adjacent++
				}
				if j == 0 {
					first++
				}
			}
		}
	}
	return all, adjacent, first
}
