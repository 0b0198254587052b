//go:build unix

package server

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const address = "http://alice:hunter2pw@127.0.0.1:18000"

// sleeper is a process that leads a group of its own, as a server does.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }() // a process that was not waited for still has its number
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-done })
	return cmd
}

// leave writes a note as a collection that was killed would have left it.
func leave(t *testing.T, l leftover) string {
	t.Helper()
	name, err := leftoverFile(address)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLeftoverIsTheSameProcess(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	cmd := sleeper(t)
	pid := cmd.Process.Pid
	for _, c := range []struct {
		name string
		l    leftover
	}{
		{"other start", leftover{Boot: bootID(), Pid: pid, Start: "1"}},
		{"no start", leftover{Boot: bootID(), Pid: pid}},
		{"other boot", leftover{Boot: "before", Pid: pid, Start: startTicks(pid)}},
		{"its collection lives", leftover{Boot: bootID(), Pid: pid, Start: startTicks(pid), Owner: os.Getpid(),
			OwnerStart: startTicks(os.Getpid())}},
		{"everything", leftover{Boot: bootID(), Pid: -1, Start: startTicks(pid)}},
	} {
		leave(t, c.l)
		if got := endLeftover(context.Background(), address, ""); got != "" || startTicks(pid) == "" {
			t.Fatalf("%s: ended %q", c.name, got)
		}
	}
	leave(t, leftover{Boot: bootID(), Pid: pid, Start: startTicks(pid), Owner: 1 << 22, OwnerStart: "1"})
	if got := endLeftover(context.Background(), address, ""); !strings.HasPrefix(got, "process ") {
		t.Errorf("the server that was left: %q", got)
	}
}

// A note names no program to run.
func TestNotesAreNotExecuted(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir := t.TempDir()
	proof := filepath.Join(dir, "ran")
	program := filepath.Join(dir, "engine")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+proof+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	id := strings.Repeat("ab", 32)
	for _, l := range []leftover{
		{Engine: program, Container: id}, {Engine: "engine", Container: id}, {Engine: "../engine", Container: id},
		{Engine: "docker", Container: "--privileged"}, {Engine: "docker", Container: "x; touch " + proof},
	} {
		l.Boot = bootID()
		leave(t, l)
		if got := endLeftover(context.Background(), address, ""); got != "" {
			t.Errorf("%+v: ended %q", l, got)
		}
	}
	// The form of earlier versions, in the shared folder.
	t.Setenv("TMPDIR", dir)
	old := filepath.Join(dir, "ttreport-locks", "server-http-127.0.0.1-18000.server")
	if err := os.MkdirAll(filepath.Dir(old), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, []byte("container\t"+program+"\tx\t1\t1"), 0o644); err != nil {
		t.Fatal(err)
	}
	endLeftover(context.Background(), "http://127.0.0.1:18000", "")
	if _, err := os.Stat(proof); err == nil {
		t.Error("a program that a note named was run")
	}
}

func TestNotesAreNotLinks(t *testing.T) {
	run := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", run)
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	name, err := leftoverFile(address)
	if err != nil || strings.Contains(name, "hunter2") || strings.Contains(name, "alice") {
		t.Fatalf("%s, %v", name, err)
	}
	if err := os.Symlink(victim, name); err != nil {
		t.Fatal(err)
	}
	if _, ok := readNote(address); ok {
		t.Error("a link was read")
	}
	note(address, leftover{Pid: os.Getpid(), Start: startTicks(os.Getpid())})
	if data, _ := os.ReadFile(victim); string(data) != "precious" {
		t.Errorf("the file behind the link is now %q", data)
	}
	if _, ok := readNote(address); !ok {
		t.Error("the note cannot be read")
	}
	forget(address)
	if _, ok := readNote(address); ok {
		t.Error("the note is still there")
	}
}
