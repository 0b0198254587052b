// Package redact removes secrets and private paths from text that will be stored or shown.
//
// It is used on the way in, by whoever writes a file or keeps a field of one, so that a secret never reaches the
// history, where removing it would mean rewriting. It errs on the side of removing: a false removal costs a word in a
// command line, a miss costs a key.
package redact
