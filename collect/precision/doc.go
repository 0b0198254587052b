// Package precision says from which request on a measurement is steady, how well its means are known, and whether it
// drifts.
//
// In: one value a request, in the order of sending. Out: a [State]: the length of the warm-up, the mean of what is
// behind it with a 95 % interval, and the drift. [Rule] says what is known well enough. It must not know servers,
// clients or files.
//
// The warm-up is cut by MSER-5 (White 1997): the cut that makes the standard error of the remaining mean the smallest.
// Requests of one measurement depend on each other, because they share steps of one scheduler; intervals are therefore
// from the means of batches of requests that follow each other, which hardly do (Law and Kelton 2000, section 9.5).
package precision
