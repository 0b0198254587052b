// Package environment finds the programs of tools, or installs them: one Python environment a tool, below the user's
// cache folder.
//
// In: a tool's name, program and module. Out: the path of a program that can be run. An environment is made once,
// from an embedded requirements file with every version pinned; another requirements file makes another environment.
// A tool that is configured, or on the PATH, is used as it is: its version is recorded in every sidecar. The package
// must not know what a tool is for, or its flags.
package environment
