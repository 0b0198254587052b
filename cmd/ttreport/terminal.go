package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/credentials"
	"github.com/ttreport/ttreport/collect/progress"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
	"golang.org/x/term"
)

// terminalOf is the file of a stream that is a terminal.
func terminalOf(stream any) (fd int, ok bool) {
	if p, wrapped := stream.(*printable); wrapped {
		stream = p.to
	}
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	return int(f.Fd()), true
}

// newProgress shows progress on standard error: in place on a terminal, in parts in GitHub's log.
func newProgress(sh *shell) *progress.Display {
	return progress.New(streamOf(sh))
}

// streamOf is standard error for a display, which draws in place where the terminal can.
func streamOf(sh *shell) progress.Stream {
	to := progress.Stream{Writer: sh.err, GitHub: os.Getenv("GITHUB_ACTIONS") == "true"}
	if p, wrapped := sh.err.(*printable); wrapped {
		to.Writer = p.to // the display writes escapes of its own
	}
	if fd, ok := terminalOf(sh.err); ok && os.Getenv("TERM") != "dumb" {
		to.Width = func() int {
			if width, _, err := term.GetSize(fd); err == nil && width > 20 {
				return width
			}
			return 80
		}
	}
	return to
}

// askFor lets a person type a secret that is not echoed, and offers to keep it in .env. Where nobody can type, nothing
// is asked.
func askFor(sh *shell, ws *workspace.Workspace) credentials.Ask {
	return func(name, why string) (string, bool) {
		in, readable := terminalOf(sh.in)
		if _, ok := terminalOf(sh.err); !readable || !ok {
			return "", false
		}
		fmt.Fprintf(sh.err, "%s. %s (not shown, empty for none): ", why, name)
		typed, err := term.ReadPassword(in)
		fmt.Fprintln(sh.err)
		value := strings.TrimSpace(string(typed))
		if err != nil || value == "" {
			return "", false
		}
		redact.Know(value)
		if confirmed(sh.in, sh.err, "save it in .env, readable by you alone?") {
			if err := credentials.Save(ws.Dir, name, value); err != nil {
				sh.say("warning: it was not saved: %v", err)
			}
		}
		return value, true
	}
}

func confirmed(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprintf(out, "%s [y/N] ", question)
	var answer string
	_, err := fmt.Fscanln(in, &answer)
	return err == nil && strings.HasPrefix(strings.ToLower(answer), "y")
}

// printable replaces control characters in what goes to a terminal: names and messages come from files of other
// people, and an escape sequence could hide a line or set the title of the window.
type printable struct {
	to  io.Writer
	err error // the first of writing
}

// Write implements io.Writer.
func (p *printable) Write(b []byte) (int, error) {
	_, err := p.to.Write(plaintext.PrintableBytes(b))
	if err != nil && p.err == nil {
		p.err = err
	}
	return len(b), err
}
