package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// flagError names a flag with a value that it does not take, with an example, and the nearest flag to an unknown one.
func flagError(c command, fs *pflag.FlagSet, err error) error {
	hint := fmt.Sprintf("run ttreport %s --help", c.name)
	var unknown *pflag.NotExistError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		var names []string
		fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		hint = didYouMean(unknown.GetSpecifiedName(), names, "--", hint)
	case errors.As(err, &wrong):
		return wrongValue(c, wrong, hint)
	}
	return failure{exitUsage, fmt.Errorf("%s: %w", c.name, err), hint}
}

// wrongValue says what a flag takes.
func wrongValue(c command, wrong *pflag.InvalidValueError, hint string) error {
	f := wrong.GetFlag()
	takes, example := "", ""
	switch f.Value.Type() {
	case "int", "uint", "int64", "uint64":
		takes, example = "a whole number", "4"
	case "float64":
		takes, example = "a number", "0.5"
	case "duration":
		takes, example = "a duration", "90s, 30m or 2h"
	case "bool":
		takes, example = "true or false", "false"
	}
	if takes == "" { // the value says itself what it lacks
		if name, _ := pflag.UnquoteUsage(f); strings.Contains(name, "=") {
			hint = "as in --" + f.Name + " " + name
		}
		return fail(exitUsage, hint, "%s: --%s: %w", c.name, f.Name, wrong.Unwrap())
	}
	sign := " "
	if f.NoOptDefVal != "" {
		sign = "="
	}
	return fail(exitUsage, "as in --"+f.Name+sign+example,
		"%s: --%s %q is not %s", c.name, f.Name, wrong.GetValue(), takes)
}

// emptyArgument refuses "" where a name is expected: it is what a variable gives that is not set.
func emptyArgument(c command, fs *pflag.FlagSet) (err error) {
	const fix = "a variable that is not set? leave the argument out, or state it"
	if slices.Contains(fs.Args(), "") {
		return fail(exitUsage, fix, "%s: an argument is empty", c.name)
	}
	fs.Visit(func(f *pflag.Flag) {
		if _, unread := f.Value.(*elsewhere); unread {
			return
		}
		if strings.TrimSpace(f.Value.String()) == "" && f.Name != "fail-on" { // which says itself what it lacks
			err = fail(exitUsage, fix, "%s: --%s is empty", c.name, f.Name)
		}
	})
	return err
}

// noNumber refuses numbers that no port has, and a zero of what is measured where it would mean that the flag was not
// given, unless the usage says what zero is. A simulator may well be slower by zero.
func noNumber(c command, fs *pflag.FlagSet) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		measures := c.name == "collect" || c.name == "bisect"
		none := measures && f.DefValue == value && (value == "0" || value == "0s") && !strings.Contains(f.Usage, "0 for")
		port, wrong := strconv.Atoi(value)
		isPort := f.Name == "port" || strings.HasSuffix(f.Name, "-port")
		switch {
		case isPort && wrong == nil && (port < 0 || port > 65535 || none):
			err = fail(exitUsage, "as in --"+f.Name+" 8000",
				"%s: --%s %s is not a port from 1 to 65535", c.name, f.Name, value)
		case f.Value.Type() == "duration" && (none || measures && strings.HasPrefix(value, "-")):
			err = fail(exitUsage, "as in --"+f.Name+" 30m, or leave it out",
				"%s: --%s %s is not a time above zero", c.name, f.Name, value)
		case none && slices.Contains([]string{"int", "float64"}, f.Value.Type()):
			err = fail(exitUsage, "as in --"+f.Name+" 4, or leave it out",
				"%s: --%s %s is not a number above zero", c.name, f.Name, value)
		}
	})
	return err
}
