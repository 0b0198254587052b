// Package llmperf reads the summaries of Anyscale's llmperf (…_summary.json). Times are in seconds. Its inter-token
// latency is the sum of all gaps, the first token's included, over the output tokens: the normalised time per output
// token here.
package llmperf
