package server

import (
	"io"
	"os"
	"strings"
)

// advice maps words in the logs of tools and servers to what to do about them, the most specific first.
func advice() []struct{ words, fix string } {
	return []struct{ words, fix string }{
		{"gated repo", "the model is gated: accept its terms on its page, and set HF_TOKEN to a token of that account"},
		{"gatedrepoerror", "the model is gated: accept its terms on its page, and set HF_TOKEN to a token of that account"},
		{"access to model", "the model is gated: accept its terms on its page, and set HF_TOKEN to a token of that account"},
		{"401 client error", "the hub needs a token: set HF_TOKEN, in the environment or in .env"},
		{"invalid user token", "the hub refuses HF_TOKEN: it may have expired"},
		{"no space left on device", "the disk is full: make room, and run the same line again"},
		{"address already in use", "the port is taken: choose another --port"},
		{"out of memory", "out of memory: use a lower concurrency or a shorter context"},
		{"status 401", "the server needs a key: set OPENAI_API_KEY, or JWT_SECRET, in the environment or in .env"},
		{"401 unauthorized", "the server needs a key: set OPENAI_API_KEY, or JWT_SECRET, in the environment or in .env"},
	}
}

// fixOf searches the end of a log for a known failure and returns what to do about it; "" when there is none.
func fixOf(log string) string {
	const tail = 64 << 10
	f, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tail {
		_, _ = f.Seek(-tail, io.SeekEnd) // if it fails, the log is read from its start
	}
	data, err := io.ReadAll(io.LimitReader(f, tail))
	if err != nil {
		return ""
	}
	text := strings.ToLower(string(data))
	for _, c := range advice() {
		if strings.Contains(text, c.words) {
			return c.fix
		}
	}
	return ""
}

// LastLog returns the end of a log as text, and what to do about it where that is known. log is the file to search
// for advice.
func LastLog(lines []string, log, between string) string {
	if len(lines) == 0 {
		return "it printed nothing"
	}
	words := "last log lines:" + between + strings.Join(lines, between)
	if fix := fixOf(log); fix != "" {
		return words + "\n  " + fix
	}
	return words
}
