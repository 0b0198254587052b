package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What we started ends when we are killed: also grandchildren that left the session, those that ignore TERM, and what a
// command ends.
func TestKilledParentLeavesNothing(t *testing.T) {
	if os.Getenv("GUARD_HELPER") != "" {
		script := `trap '' TERM; setsid sleep 300 & setsid sh -c 'trap "" TERM; sleep 300 & wait' & sleep 300`
		c, err := Start(Spec{Argv: []string{"/bin/sh", "-c", script}, Grace: time.Second,
			Killed: []string{"touch", os.Getenv("GUARD_HELPER")}})
		if err != nil {
			t.Fatal(err)
		}
		for len(Marked(c.Mark())) < 5 {
			time.Sleep(10 * time.Millisecond)
		}
		fmt.Println("mark", c.Mark())
		select {}
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	helper := exec.Command(os.Args[0], "-test.run=^TestKilledParentLeavesNothing$")
	ended := filepath.Join(t.TempDir(), "ended")
	helper.Env = append(os.Environ(), "GUARD_HELPER="+ended)
	out, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	mark := ""
	for lines := bufio.NewScanner(out); mark == "" && lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "mark "); ok {
			mark = rest
		}
	}
	if len(Marked(mark)) < 4 {
		t.Fatalf("%q: %v", mark, Marked(mark))
	}
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = helper.Wait() // it was killed
	waitGone(t, mark)
	if !comes(func() bool { _, err := os.Stat(ended); return err == nil }) {
		t.Error("what ends a container was not run")
	}
}
