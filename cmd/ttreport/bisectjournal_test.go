package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A journal that a crash cut short goes on after its last whole line; one that is damaged is left as it is.
func TestBisectJournal(t *testing.T) {
	name := filepath.Join(t.TempDir(), "j")
	read := func() (n int, err error) {
		j, err := openBisectJournal(name, func(bisectEntry) { n++ })
		if err == nil {
			err = j.Log(bisectEntry{Build: 1, Ref: "a", Good: 1, Value: 2})
			_ = j.Close()
		}
		return n, err
	}
	for want := range 3 {
		if n, err := read(); n != want || err != nil {
			t.Fatalf("%d entries, %d expected: %v", n, want, err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, append(data, `{"build":1,"ref":"a","go`...), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const damaged = "{\"build\":1,\"ref\":\"a\",\"good\":1,\"value\":2}\nnonsense\n"
	if err := os.WriteFile(name, []byte(damaged), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := read(); err == nil {
		t.Error("a damaged journal is read")
	}
	if data, _ := os.ReadFile(name); string(data) != damaged {
		t.Errorf("it was changed: %q", data)
	}
}
