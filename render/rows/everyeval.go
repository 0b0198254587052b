package rows

import (
	"cmp"
	"strconv"

	"github.com/ttreport/ttreport/render"
)

// everyEval writes a file for each run with scores: the aggregate of Every Eval Ever, schema 0.3.0
// (evaleval/every_eval_ever, eval.schema.json). A score of which nobody says whether lower is better is left out,
// because the schema has no word for that.
func everyEval(r *render.Report, release int) (out []Written, err error) {
	for _, run := range r.Releases[release].Runs {
		h := &r.Columns.Runs[run]
		at := "unknown"
		if !h.Start.IsZero() {
			at = strconv.FormatInt(h.Start.Unix(), 10)
		}
		var results []dict
		library := dict{"name": "unknown", "version": "unknown"}
		for _, s := range r.Columns.ScoresOf(run) {
			value, ok := s.Value.Get()
			if !ok || !render.KnowsBetter(&s) || s.Task == "" {
				continue
			}
			parameters, uncertainty := dict{}, dict{}
			if s.Filter != "" {
				parameters["filter"] = s.Filter
			}
			if s.Fewshot != nil {
				parameters["num_fewshot"] = *s.Fewshot
			}
			if s.Total > 0 {
				parameters["num_items"] = s.Total // of the task, of which samples may be a part
			}
			if se, ok := s.Stderr.Get(); ok {
				uncertainty["standard_error"] = dict{"value": se}
			}
			if s.N > 0 {
				uncertainty["num_samples"] = s.N
			}
			library = dict{"name": s.Source.Format, "version": cmp.Or(s.Source.ToolVersion, "unknown")}
			results = append(results, dict{
				"evaluation_name": s.Task, "source_data": dict{"dataset_name": s.Task, "source_type": "other"},
				"evaluation_timestamp": at, "metric_config": dict{"metric_id": s.Metric, "metric_kind": s.Metric,
					"lower_is_better": s.Lower(), "metric_parameters": parameters},
				"score_details": dict{"score": value, "uncertainty": uncertainty},
			})
		}
		if len(results) == 0 {
			continue
		}
		w, err := document(render.RunName(h.ID)+".json", dict{
			"schema_version": "0.3.0", "evaluation_id": "ttreport/" + modelID(h) + "/" + h.ID, "retrieved_timestamp": at,
			"source_metadata": dict{"source_name": "ttreport", "source_type": "evaluation_run",
				"source_organization_name": "unknown", "evaluator_relationship": "other"},
			"eval_library": library, "model_info": dict{"name": h.Model.Name, "id": modelID(h),
				"inference_engine": dict{"name": h.Engine, "version": h.Version},
				"additional_details": dict{"deployment_type": "unknown", "model_availability": "unknown",
					"device": h.Device, "release": h.Release}},
			"evaluation_results": results,
		})
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}
