//go:build unix

package collect

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// places gives a test folders for locks of its own.
func places(t *testing.T) (own, shared string) {
	t.Helper()
	own, shared = t.TempDir(), t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", own)
	t.Setenv("TMPDIR", shared)
	return own, shared
}

func quiet(t *testing.T) func(string) {
	return func(s string) { t.Errorf("a warning: %s", s) }
}

func TestLockExcludesAndReleases(t *testing.T) {
	places(t)
	all := []string{AllAccelerators}
	for _, c := range []struct {
		name          string
		first, second []string // accelerators
		port          string   // of the second server; the first has 8000
		busy          bool
	}{
		{"one address", nil, nil, "8000", true},
		{"two servers that run already, whatever their device is called", nil, nil, "8001", false},
		{"one that runs, and one that is started", nil, all, "8001", false},
		{"two that are started", all, all, "8001", true},
		{"two on accelerators of their own", []string{"0"}, []string{"1"}, "8001", false},
		{"two on one accelerator", []string{"0", "1"}, []string{"1"}, "8001", true},
		{"one on all, one on one of them", all, []string{"1"}, "8001", true},
		{"one on one, another on all", []string{"1"}, all, "8001", true},
		{"two servers of one process, one on all", []string{"0", AllAccelerators}, []string{"1"}, "8001", true},
		{"two servers of one process on one", []string{"0", "0"}, []string{"1"}, "8001", false},
	} {
		release, err := Lock(quiet(t), c.first, "http://127.0.0.1:8000")
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		second, err := Lock(quiet(t), c.second, "http://127.0.0.1:"+c.port)
		if errors.Is(err, ErrBusy) != c.busy || c.busy && !strings.Contains(err.Error(), "process ") {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil {
			second()
		}
		release()
		if second, err = Lock(quiet(t), c.second, "http://127.0.0.1:"+c.port); err != nil {
			t.Fatalf("%s, when the first has ended: %v", c.name, err)
		}
		second()
	}
}

// What a job of Slurm got goes before what the environment of each job calls its accelerators, which is from 0 in each.
func TestAcceleratorsOfThisProcess(t *testing.T) {
	t.Setenv("SLURM_STEP_GPUS", "")
	t.Setenv("SLURM_JOB_GPUS", "")
	t.Setenv("TT_VISIBLE_DEVICES", "")
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	if got := Accelerators(""); !slices.Equal(got, []string{AllAccelerators}) {
		t.Error(got)
	}
	t.Setenv("CUDA_VISIBLE_DEVICES", "0,1")
	if got := Accelerators(""); !slices.Equal(got, []string{"0", "1"}) {
		t.Error(got)
	}
	t.Setenv("SLURM_JOB_GPUS", "3, 2")
	if got := Accelerators(""); !slices.Equal(got, []string{"2", "3"}) {
		t.Error(got)
	}
	if got := Accelerators("5"); !slices.Equal(got, []string{"5"}) {
		t.Error(got)
	}
}

func TestLockNamesHoldNoCredentials(t *testing.T) {
	own, shared := places(t)
	const address = "http://alice:hunter2pw@127.0.0.1:8000/v1?api_key=sk_abcdef"
	release, err := Lock(quiet(t), []string{AllAccelerators}, address)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	_, busy := Lock(quiet(t), nil, "http://127.0.0.1:8000")
	said := ""
	if busy == nil {
		t.Error("the same address with and without credentials is two")
	} else {
		said = busy.Error()
	}
	for _, dir := range []string{own, shared} {
		_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error { said += path; return nil })
	}
	for _, secret := range []string{"alice", "hunter2", "abcdef"} {
		if strings.Contains(said, secret) {
			t.Errorf("%q in %s", secret, said)
		}
	}
}

// What another user prepares in the shared folder neither ends the collection nor is written to.
func TestSharedLocksAreNotBelieved(t *testing.T) {
	for kind, prepare := range map[string]func(path, victim string) error{
		"link":   func(path, victim string) error { return os.Symlink(victim, path) },
		"fifo":   func(path, _ string) error { return syscall.Mkfifo(path, 0o666) },
		"folder": func(path, _ string) error { return os.Mkdir(path, 0o777) },
	} {
		t.Run(kind, func(t *testing.T) {
			_, shared := places(t)
			victim := filepath.Join(t.TempDir(), "victim")
			if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := prepare(filepath.Join(shared, "ttreport-"+lockName("accelerators")), victim); err != nil {
				t.Fatal(err)
			}
			warned := 0
			release, err := Lock(func(string) { warned++ }, []string{AllAccelerators}, "http://127.0.0.1:8000")
			if err != nil || warned != 1 {
				t.Fatalf("%v, %d warnings", err, warned)
			}
			release()
			if data, _ := os.ReadFile(victim); string(data) != "precious" {
				t.Errorf("the file behind the link is now %q", data)
			}
		})
	}
}

// Two users of a host: the lock that the first left behind does not stop the second, the one that it holds does.
func TestLockBetweenUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be two users")
	}
	places(t)
	bin := otherUsersProgram(t)
	release, err := Lock(quiet(t), []string{AllAccelerators}, "http://127.0.0.1:8000")
	if err != nil {
		t.Fatal(err)
	}
	if out := lockAs(bin, 12345); !strings.Contains(out, "another process is measuring there") {
		t.Errorf("a device that is measured: %s", out)
	}
	release()
	if out := lockAs(bin, 12345); !strings.Contains(out, "locked it") {
		t.Errorf("a device that was measured by another user: %s", out)
	}
}

func TestLockHelper(t *testing.T) {
	if os.Getenv("LOCK_HELPER") == "" {
		t.Skip("run by TestLockBetweenUsers")
	}
	if _, err := Lock(quiet(t), []string{AllAccelerators}, "http://127.0.0.1:8000"); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(os.Stdout, "locked it\n")
}

// otherUsersProgram copies this program to where every user can run it, and opens the temporary folder.
func otherUsersProgram(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "lock-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "program")
	if err := errors.Join(os.WriteFile(bin, data, 0o755), os.Chmod(dir, 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	return bin
}

func lockAs(bin string, uid uint32) string {
	cmd := exec.Command(bin, "-test.run=^TestLockHelper$")
	cmd.Env = []string{"LOCK_HELPER=1", "TMPDIR=" + filepath.Dir(bin)}
	cmd.Dir = filepath.Dir(bin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out) + err.Error()
	}
	return string(out)
}
