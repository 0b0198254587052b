// Package helm reads the stats.json of Stanford's HELM: a list of statistics, each with a name, a split and a mean.
// The folder of the run states the task and the model: "mmlu:subject=anatomy,model=acme_m". Of the statistics those of
// answers on the test split without perturbations are scores.
package helm
