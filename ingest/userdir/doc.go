// Package userdir makes a folder that belongs to the user alone, for locks and notes about processes.
//
// In: the environment. Out: a folder of mode 0700 that the user owns and that no link leads to. A folder that another
// user could have prepared is refused. It must not know what is kept there.
package userdir
