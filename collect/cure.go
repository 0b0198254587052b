package collect

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
)

// ErrDenied is returned for a server that refuses us.
var ErrDenied = errors.New("the server refuses us")

// ErrFull is returned when there is no room for results.
var ErrFull = errors.New("the disk is full")

// full names the reason where an error means that the disk is full.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return errors.Join(ErrFull, err)
	}
	return err
}

// cures are what to do about words in a log that tools and servers leave when they end, the most telling first.
func cures() []struct{ words, cure string } {
	return []struct{ words, cure string }{
		{"gated repo", "the model is gated: accept its terms on its page, and set HF_TOKEN to a token of that account"},
		{"gatedrepoerror", "the model is gated: accept its terms on its page, and set HF_TOKEN to a token of that account"},
		{"access to model", "the model is gated: accept its terms on its page, and set HF_TOKEN to a token of that account"},
		{"401 client error", "the hub does not know us: set HF_TOKEN, in the environment or in .env"},
		{"invalid user token", "the hub does not take HF_TOKEN: it may have expired"},
		{"no space left on device", "the disk is full: make room, and run the same line again"},
		{"address already in use", "the port is taken: choose another --port"},
		{"out of memory", "the memory is too small for it: fewer requests at once, or a shorter context"},
		{"status 401", "the server wants a key: set OPENAI_API_KEY, or JWT_SECRET, in the environment or in .env"},
		{"401 unauthorized", "the server wants a key: set OPENAI_API_KEY, or JWT_SECRET, in the environment or in .env"},
	}
}

// cureOf looks into the end of a log for a reason that people can do something about; "" when there is none.
func cureOf(log string) string {
	const tail = 64 << 10
	f, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tail {
		_, _ = f.Seek(-tail, io.SeekEnd) // from the start is as well
	}
	data, err := io.ReadAll(io.LimitReader(f, tail))
	if err != nil {
		return ""
	}
	text := strings.ToLower(string(data))
	for _, c := range cures() {
		if strings.Contains(text, c.words) {
			return c.cure
		}
	}
	return ""
}

// lastWords says what somebody printed last, and what to do about it where that is known.
func lastWords(lines []string, log, between string) string {
	if len(lines) == 0 {
		return "it printed nothing"
	}
	words := "its last words:" + between + strings.Join(lines, between)
	if cure := cureOf(log); cure != "" {
		return words + "\n  " + cure
	}
	return words
}
