package ttis

import (
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// headline is the metric and filter of the harness that a report's score of a task repeats, and by how much it was
// multiplied, so that a score has one name and one scale whichever file it came from. The names are the result_keys of
// tt-inference-server's reference_config/evals/eval_config.py. A score of a task that is not listed here stays
// "score".
func headline(task string) (metric, filter string, scale float64) {
	switch task {
	case "meta_gpqa", "meta_gpqa_cot":
		return "exact_match", "strict-match", 100
	case "gpqa_diamond_cot_zeroshot", "gpqa_diamond_generative_n_shot":
		return "exact_match", "flexible-extract", 100
	case "aime25", "r1_aime24", "r1_gpqa_diamond", "r1_math500", "meta_math", "longbench2_generate":
		return "exact_match", none, 100
	case "meta_ifeval":
		return schema.MeanOf("prompt_level_strict_acc", "inst_level_strict_acc", "prompt_level_loose_acc",
			"inst_level_loose_acc"), none, 100
	case "mmlu_pro":
		return "exact_match", "custom-extract", 100
	case "mmlu_generative":
		return "exact_match", "get_response", 100
	case "humaneval_instruct":
		return "pass@1", "create_test", 100
	case "mbpp_instruct":
		return "pass_at_1", "extract_code", 100
	case "leaderboard_ifeval":
		return "prompt_level_strict_acc", none, 100
	case "livecodebench":
		return "acc", none, 100
	case "chartqa":
		return "relaxed_overall", none, 100
	case "docvqa_val":
		return "anls", none, 100
	case "mmmu_val":
		return "mmmu_acc", none, 100
	case "librispeech_test_other":
		return wer, none, 1
	}
	if strings.Contains(task, wer) {
		return wer, none, 1
	}
	return "score", none, 100
}

// wer is the word error rate, in percent. Reports have 100 - WER.
const wer = "wer"

// none is the harness's name for no filter.
const none = "none"
