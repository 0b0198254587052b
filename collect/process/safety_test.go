package process

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestLogHoldsNoSecrets(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	script := `echo start; echo "api_key='hunter2pw'" >&2
printf -- "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"; printf end`
	if _, err := Run(context.Background(), Spec{Argv: []string{"/bin/sh", "-c", script}, Log: name}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	text := string(data)
	if err != nil || strings.Contains(text, "hunter2") || strings.Contains(text, "MIIE") ||
		!strings.Contains(text, "start\n") ||
		!strings.HasSuffix(text, "end") {
		t.Errorf("%q, %v", text, err)
	}
}

func TestLogIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	f, err := openLog(name)
	if err != nil {
		t.Fatal(err)
	}
	l := newLog(f, 1000, 100)
	for i := range 1000 {
		if _, err := l.Write([]byte("line " + strconv.Itoa(i) + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	text := string(data)
	if err != nil || len(text) > 1000 || !strings.HasPrefix(text, "line 0\n") || !strings.HasSuffix(text, "line 999\n") ||
		!strings.Contains(text, "left out here") {
		t.Errorf("%d bytes: %q, %v", len(text), text, err)
	}
}

// waitGone waits until no process carries a mark.
func waitGone(t *testing.T, mark string) {
	t.Helper()
	if !comes(func() bool { return len(Marked(mark)) == 0 }) {
		t.Errorf("left: %v", Marked(mark))
		EndMarked(mark)
	}
}

// comes reports whether something happens within half a minute.
func comes(so func() bool) bool {
	for end := time.Now().Add(30 * time.Second); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

func TestChildrenThatLeaveTheSessionEnd(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	c, err := Start(Spec{Argv: []string{"/bin/sh", "-c",
		"setsid sleep 300 & setsid sh -c 'sleep 300 & sleep 300' & sleep 300"},
		Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if !comes(func() bool { return len(Marked(c.Mark())) >= 5 }) {
		t.Fatalf("only %d processes were started", len(Marked(c.Mark())))
	}
	c.Stop(context.Background())
	waitGone(t, c.Mark())
}

// The program that is started ends when we are killed without warning.
func TestEndsAfterSIGKILL(t *testing.T) {
	if mark := os.Getenv("PROCESS_HELPER"); mark != "" {
		c, err := Start(Spec{Argv: []string{"sleep", "300"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(mark, []byte(c.Mark()), 0o600); err != nil {
			t.Fatal(err)
		}
		select {}
	}
	file := filepath.Join(t.TempDir(), "mark")
	helper := exec.Command(os.Args[0], "-test.run=^TestEndsAfterSIGKILL$")
	helper.Env = append(os.Environ(), "PROCESS_HELPER="+file)
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	var mark []byte
	comes(func() bool { mark, _ = os.ReadFile(file); return len(mark) == 32 })
	if n := len(Marked(string(mark))); n != 1 {
		t.Errorf("%d processes before", n)
	}
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = helper.Wait() // it was killed
	waitGone(t, string(mark))
}
