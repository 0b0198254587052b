package parquet

import (
	"bytes"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// What is written is read back, absent numbers as null, and the same rows are the same bytes.
func TestFile(t *testing.T) {
	v := 1.5
	rows := []point{{Release: "1.10", Metric: "ttft", Value: &v}, {Release: "1.10", Missing: "it was not run"}}
	a, err := file(rows)
	if err != nil {
		t.Fatal(err)
	}
	b, err := file(rows)
	if err != nil || !bytes.Equal(a, b) {
		t.Errorf("%v: two files of the same rows differ", err)
	}
	got, err := parquet.Read[point](bytes.NewReader(a), int64(len(a)))
	if err != nil || len(got) != 2 || got[0].Release != "1.10" || *got[0].Value != v || got[1].Value != nil ||
		got[1].ISL != nil || got[1].Missing != "it was not run" {
		t.Errorf("%v %+v", err, got)
	}
	empty, err := file[score](nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := parquet.Read[score](bytes.NewReader(empty), int64(len(empty))); err != nil || len(got) != 0 {
		t.Errorf("%v %+v", err, got)
	}
}

// Two releases have two folders on every file system, within the table's.
func TestPartitions(t *testing.T) {
	got := Partitions([]string{"v1.0", "../x", "RC", "rc", "a b=c", "V2"})
	for i, want := range []string{
		"partition=v1.0", "partition=..%2Fx", "partition=%52%43", "partition=rc", "partition=a%20b%3Dc", "partition=V2",
	} {
		if got[i] != want {
			t.Errorf("%q, want %q", got[i], want)
		}
	}
}
