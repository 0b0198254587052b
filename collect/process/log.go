package process

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/ttreport/ttreport/ingest/redact"
)

// mostLog is how long a log may get, in bytes, and keptHead how much of its beginning stays when it is longer: what a
// program says of its configuration comes first, and why it failed last.
const (
	mostLog  = 64 << 20
	keptHead = 8 << 20
)

// logFile takes what a program prints: without secrets, and with a bound on its size. A program that prints without end
// neither fills the disk nor our memory.
type logFile struct {
	mu    sync.Mutex // both streams of a program may be written to
	file  *os.File
	clean *redact.Writer
	size  int64
	most  int64
	head  int64
}

func openLog(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return f, nil
}

func newLog(f *os.File, most, head int64) *logFile {
	l := &logFile{file: f, most: most, head: head}
	if info, err := f.Stat(); err == nil {
		l.size = info.Size()
	}
	l.clean = redact.NewWriter(bounded{l})
	return l
}

// Write implements io.Writer. A disk that is full must not end the program that is measured: its output is lost then.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.clean.Write(p)
	return len(p), nil
}

// Close writes what is left and closes the file.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.clean.Close()
	return l.file.Close()
}

// bounded writes to the file and takes its middle out when it gets too long.
type bounded struct{ l *logFile }

func (b bounded) Write(p []byte) (int, error) {
	l := b.l
	if l.size+int64(len(p)) > l.most {
		if err := l.file.Truncate(l.head); err != nil {
			return 0, err
		}
		note := fmt.Appendf(nil, "\n… about %d MB of output were left out here …\n", (l.size-l.head)>>20)
		l.size = l.head
		n, err := l.file.Write(note)
		if l.size += int64(n); err != nil {
			return n, err
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}
