package main

func collectCommand() command    { return command{name: "collect", setup: nil} }
func demoCommand() command       { return command{name: "demo"} }
func completionCommand() command { return command{name: "completion"} }
