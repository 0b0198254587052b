// Package redact removes secrets and private paths from text that will be stored or shown.
//
// In: text, a field's name and value, or a command line. Out: the same without secrets. It is used wherever a file is
// written or a field is kept, so that a secret never reaches the history, from which it could only be removed by
// rewriting it. When in doubt, text is removed: a false removal costs a word in a command line, a miss costs a key.
// The package must not know file formats.
package redact
