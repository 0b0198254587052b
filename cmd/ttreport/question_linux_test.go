package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/sys/unix"
)

// pseudoTerminal returns both ends of one, see pty(7), or skips.
func pseudoTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminal:", err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip("no pseudo-terminal:", err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip("no pseudo-terminal:", err)
	}
	if theirs, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Skip("no pseudo-terminal:", err)
	}
	size := &unix.Winsize{Row: 50, Col: 120}
	if err := unix.IoctlSetWinsize(int(theirs.Fd()), unix.TIOCSWINSZ, size); err != nil {
		t.Skip("no pseudo-terminal:", err)
	}
	return ours, theirs
}

// screen is what was printed to a terminal so far.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) follow(from *os.File) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		s.mu.Lock()
		s.text.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screen) has(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.text.String(), what)
}

func (s *screen) wait(t *testing.T, what string) {
	t.Helper()
	for began := time.Now(); !s.has(what); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			s.mu.Lock()
			defer s.mu.Unlock()
			t.Fatalf("no %q in %q", what, s.text.String())
		}
	}
}

// Somebody who follows jobs at a terminal and presses Ctrl-C is asked whether they are to end: they do for a yes, and
// go on for anything else, a second Ctrl-C too.
func TestCtrlCAsks(t *testing.T) {
	if args := os.Getenv("QUESTION_HELPER"); args != "" {
		os.Args = strings.Fields(args)
		main()
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the scripts are of bash")
	}
	for answer, want := range map[string]string{
		"y\n": "1 job cancelled", "n\n": "the jobs continue", "\x03": "the jobs continue",
	} {
		dir := t.TempDir()
		story, err := txtar.ParseFile("testdata/script/slurm.txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range story.Files {
			if strings.HasPrefix(f.Name, "bin/") {
				lay(t, filepath.Join(dir, f.Name), string(f.Data))
				if err := os.Chmod(filepath.Join(dir, f.Name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}
		lay(t, filepath.Join(dir, "fake", "wait"), "")
		ours, theirs := pseudoTerminal(t)
		cmd := exec.Command(os.Args[0], "-test.run=^TestCtrlCAsks$")
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, theirs, theirs, theirs
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"),
			"FAKE="+filepath.Join(dir, "fake"), "TMPDIR="+t.TempDir(),
			"QUESTION_HELPER=ttreport collect --on slurm --poll 20ms "+
				"--model sim-8b --device simulated --server sim --workload isl=8,osl=4,c=1,n=4")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = theirs.Close() // the program has it
		shown := &screen{}
		go shown.follow(ours)
		shown.wait(t, "1 PENDING")
		for _, typed := range [][2]string{{"\x03", "Cancel them? [y/N] "}, {answer, want}} {
			if _, err := ours.WriteString(typed[0]); err != nil {
				t.Fatal(err)
			}
			shown.wait(t, typed[1])
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended: // its exit code says that it was interrupted
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			t.Errorf("%q: it does not end", answer)
		}
		jobs, err := os.ReadFile(filepath.Join(dir, "fake", "jobs"))
		if err != nil || strings.Contains(string(jobs), "CANCELLED") != (answer == "y\n") {
			t.Errorf("%q: %v, %s", answer, err, jobs)
		}
	}
}

// silent waits until a terminal does not show what is typed.
func silent(t *testing.T, terminal *os.File) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
		if err != nil || time.Since(began) > time.Minute {
			t.Fatal("what is typed is shown:", err)
		}
		if state.Lflag&unix.ECHO == 0 {
			return
		}
	}
}

// asked runs a line in the folder bare, where no secret is stored, at a terminal on which somebody types them: what is
// typed is not shown, and is kept where it is agreed to.
func asked(t *testing.T, args []string, want string) {
	t.Helper()
	back, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(back, "bare", "bin")
	if err := os.Chmod(filepath.Join(bin, "docker"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	for name, value := range map[string]string{"HF_TOKEN": "", "JWT_SECRET": "", "PATH": bin + ":" + path} {
		t.Setenv(name, value)
	}
	t.Chdir("bare")
	ours, theirs := pseudoTerminal(t)
	shown, ended := &screen{}, make(chan int)
	go shown.follow(ours)
	go func() { ended <- run(t.Context(), args, theirs, io.Discard, theirs) }()
	for _, one := range [][2]string{
		{"HF_TOKEN (not shown", "typed-token\n"}, {"[y/N]", "n\n"}, {"JWT_SECRET (not shown", "typed-secret\n"},
		{"JWT_SECRET (not shown, empty for none): \r\nsave it", "y\n"},
	} {
		shown.wait(t, one[0])
		if strings.Contains(one[0], "not shown") && !strings.Contains(one[0], "save") {
			silent(t, ours)
		}
		if _, err := ours.WriteString(one[1]); err != nil {
			t.Fatal(err)
		}
	}
	<-ended
	_ = theirs.Close()
	kept, err := os.ReadFile(".env")
	if err != nil || !regexp.MustCompile(want).Match(kept) || strings.Contains(string(kept), "token") ||
		shown.has("typed-") {
		t.Errorf("%q: %v, kept %q", args, err, kept)
	}
	t.Chdir(back)
	for name, value := range map[string]string{"HF_TOKEN": "", "JWT_SECRET": "", "PATH": path} {
		t.Setenv(name, value)
	}
}

// A terminal that calls itself dumb gets lines, and nothing is drawn in place on it.
func TestDumbTerminal(t *testing.T) {
	_, theirs := pseudoTerminal(t)
	defer theirs.Close()
	for term, drawn := range map[string]bool{"xterm": true, "dumb": false} {
		t.Setenv("TERM", term)
		if to := streamOf(&shell{err: theirs}); (to.Width != nil) != drawn {
			t.Errorf("TERM=%s: drawn in place: %v", term, !drawn)
		}
	}
}
