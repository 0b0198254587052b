// Package environment finds the programs of tools, or installs them: one Python environment a tool, below the user's
// cache folder.
//
// In: a tool's name, program and module. Out: the path of a program that can be run. An environment is made once, from
// a requirements file of this program with every version pinned; another requirements file makes another environment. A
// tool that is configured, or on the PATH, is used as it is: its version goes into every sidecar. What a tool is for,
// and its flags, this package must not know.
package environment
