// Package mosaic reads what MosaicML's eval gauntlet (LLM Foundry, DataComp-LM) writes of a model: one JSON object with
// the accuracy of each task under eval_metrics.icl.
//
// Scores are accuracies from 0 to 1; Core and Extended are means of centred accuracies (0 is chance). Perplexities are
// lower for a better model. A file that states a model_uuid is of a checkpoint: "model" names its architecture alone,
// so that the first digits of the uuid become part of the model's id.
package mosaic
