// Package lighteval reads the results of Hugging Face's lighteval (0.3 to 0.13): results/<model>/results_<time>.json.
//
// A task is named "suite|task|shots"; the shots are taken out of the name. The mean over all tasks is no score.
package lighteval
