//go:build linux

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

// escape starts what leaves the process group and the session and drops the mark. It writes its number to a file.
func escape(file string) []string {
	return []string{"/bin/sh", "-c", "env -i PATH=\"$PATH\" setsid sh -c 'trap \"\" TERM INT; echo $$ >" + file +
		"; sleep 300; sleep 300' & sleep 300"}
}

func canGroup(t *testing.T) {
	t.Helper()
	g := newCgroup(newMark())
	if g == nil {
		t.Skip("no control group of version 2 can be made here")
	}
	g.end()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
}

// escaped waits for the number of what escaped.
func escaped(t *testing.T, file string) int {
	t.Helper()
	var data []byte
	if !comes(func() bool { data, _ = os.ReadFile(file); return strings.HasSuffix(string(data), "\n") }) {
		t.Fatal("nothing was started")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func runs(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(data), ") Z ")
}

func ends(t *testing.T, pid int, group string) {
	t.Helper()
	if !comes(func() bool { return !runs(pid) }) {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
		t.Fatalf("process %d is still there", pid)
	}
	if !comes(func() bool { _, err := os.Stat(group); return err != nil }) {
		t.Errorf("%s is left", group)
	}
}

// Nothing leaves the control group: what drops its environment and its session ends too.
func TestNothingLeavesTheGroup(t *testing.T) {
	canGroup(t)
	file := filepath.Join(t.TempDir(), "pid")
	c, err := Start(Spec{Argv: escape(file), Grace: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	pid := escaped(t, file)
	c.Stop(context.Background())
	ends(t, pid, c.group.path())
}

// The same when we are killed.
func TestGroupEndsAfterSIGKILL(t *testing.T) {
	if file := os.Getenv("GROUP_HELPER"); file != "" {
		c, err := Start(Spec{Argv: escape(file), Grace: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file+".group", []byte(c.group.path()), 0o600); err != nil {
			t.Fatal(err)
		}
		select {}
	}
	canGroup(t)
	file := filepath.Join(t.TempDir(), "pid")
	helper := exec.Command(os.Args[0], "-test.run=^TestGroupEndsAfterSIGKILL$")
	helper.Env = append(os.Environ(), "GROUP_HELPER="+file)
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	pid := escaped(t, file)
	var group []byte
	comes(func() bool { group, _ = os.ReadFile(file + ".group"); return len(group) > 0 })
	if err := helper.Process.Kill(); err != nil || len(group) == 0 {
		t.Fatal(err, "no group")
	}
	_ = helper.Wait() // it was killed
	ends(t, pid, string(group))
}
