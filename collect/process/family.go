package process

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
)

// markName is a variable in the environment of what we start. Its children inherit it, also those that leave the
// process group and the session, so they can be found and ended.
const markName = "TTREPORT_CHILD_OF"

func newMark() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// Marked are the processes of this user that carry a mark. Where there is no /proc there are none.
func Marked(mark string) []int {
	if len(mark) != 32 {
		return nil
	}
	want := []byte(markName + "=" + mark)
	names, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var out []int
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // of another user, or gone
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		for v := range bytes.SplitSeq(data, []byte{0}) {
			if bytes.Equal(v, want) {
				out = append(out, pid)
			}
		}
	}
	return out
}

// EndMarked ends what carries a mark at once, and what was started meanwhile.
func EndMarked(mark string) {
	for range 10 {
		list := Marked(mark)
		if len(list) == 0 {
			return
		}
		for _, pid := range list {
			kill(pid)
		}
	}
}
