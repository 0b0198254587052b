// Package board ranks models by their scores and says what of the ranking is known.
//
// In: answers to items, or differences of scores with their intervals, of several models. Out: the difference of every
// pair with its standard error; which pairs are separated; for each model an interval of ranks; groups of ties; how
// many items, or samples of each, would separate two. The package must not know files, releases or verdicts.
//
// Sources of the formulas:
//
//   - Paired differences and standard errors clustered by groups of items: Miller 2024, Adding Error Bars to Evals
//     (arXiv 2411.00640), sections 2.2 and 4.2; the factor G/(G−1) of G clusters is the usual one (Cameron and Miller
//     2015), with t of G−1 degrees of freedom.
//   - The split into data and prediction noise with its correction for few samples: Wang 2025, Measuring all the noises
//     of LLM Evals (arXiv 2512.21326): the variance of the samples of one item is divided by k−1, and 1/k of it is
//     taken from the variance between the items.
//   - The finite correction √(1 − n/N) of n items drawn from N: Cochran 1977, Sampling Techniques, section 2.6. It
//     holds for data noise; where the split is unknown, it is applied to the whole.
//   - The interval of a mean of differences from theirs, which need not be symmetric: Zou and Donner 2008 (Statistics
//     in Medicine 27), of which Newcombe's interval of two shares is a case.
//   - Which pairs are separated: Holm's step-down procedure (1979) at 5 % over all pairs of the board, which bounds the
//     chance of one wrong separation whatever the pairs have in common.
//   - Intervals of ranks from separated pairs, which cover the ranks of all models at once: Mogstad, Romano, Shaikh and
//     Wilhelm 2024, Inference for Ranks (Review of Economic Studies 91).
//   - Groups of ties: the compact letter display by insertion and absorption, Piepho 2004 (Journal of Computational and
//     Graphical Statistics 13).
package board
