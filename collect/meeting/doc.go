// Package meeting brings the clients of one load together that run in pods of their own.
//
// In: an address, a word that only they know, and how many are to come. Out: connections, of which each carries one
// load; the pod that measures waits for them ([Wait]), and the others come again for each load until it says that
// nothing more is measured ([Join], [Over]). It must not know what is said over a connection, nor who started the pods.
package meeting
