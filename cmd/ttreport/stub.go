package main

func collectCommand() command    { return command{name: "collect", setup: nil} }
func buildCommand() command      { return command{name: "build"} }
func demoCommand() command       { return command{name: "demo"} }
func ingestCommand() command     { return command{name: "ingest"} }
func targetsCommand() command    { return command{name: "targets"} }
func completionCommand() command { return command{name: "completion"} }
func versionCommand() command    { return command{name: "version"} }
