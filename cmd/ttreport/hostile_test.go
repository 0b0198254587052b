//go:build unix && !race

// The race detector takes several times the memory of the program that is measured here.

package main

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hostileSize is the size of each input, on disk.
const hostileSize = 64 << 20

// Bounds of the program on any input of that size: resident memory, and time of a processor. patience is for busy
// machines.
const (
	mostMemory = 256 << 20
	mostTime   = 30 * time.Second
	patience   = 5 * time.Minute
)

// repeated writes head, then unit with a running number until the size is reached, then tail.
func repeated(head, unit, between, tail string) func(io.Writer) {
	parts := strings.Split(strings.ReplaceAll(unit, "%[1]d", "%d"), "%d")
	return func(w io.Writer) {
		n, _ := io.WriteString(w, head)
		var text []byte
		for i := 0; n < hostileSize-len(tail)-len(unit)-20; i++ {
			text = append(text[:0], between[:min(i*len(between), len(between))]...)
			for k, part := range parts {
				if k > 0 {
					text = strconv.AppendInt(text, int64(i), 10)
				}
				text = append(text, part...)
			}
			m, _ := w.Write(text)
			n += m
		}
		_, _ = io.WriteString(w, tail)
	}
}

// hostile lists inputs that ask for more than a result does: by name, how each is written.
func hostile() map[string]func(io.Writer) {
	serve := `"completed":8,"output_throughput":9.5,"mean_ttft_ms":10.5,"date":"20260101-000000"`
	return map[string]func(io.Writer){
		"nesting.json":          repeated(``, `[`, ``, ``),
		"nested-objects.json":   repeated(``, `{"a":`, ``, ``),
		"array-of-objects.json": repeated(`[`, `{"completed":%d,"mean_ttft_ms":1}`, `,`, `]`),
		"keys.json":             repeated(`{`+serve, `,"key%d":%[1]d`, ``, `}`),
		"ttfts.json":            repeated(`{`+serve+`,"ttfts":[`, `0.5`, `,`, `],"itls":[],"output_lens":[]}`),
		"itls.json":             repeated(`{`+serve+`,"ttfts":[1],"output_lens":[2],"itls":[`, `[0.1]`, `,`, `]}`),
		"string.json":           repeated(`{`+serve+`,"note":"`, `\u0041x`, ``, `"}`),
		"appended.jsonl":        repeated(``, `{`+serve+`,"max_concurrency":%d}`, "\n", ``),
		"summary.json":          repeated(`[`, `{`+serve+`,"run_number":%d}`, ",", `]`),
		"records.jsonl": repeated(``,
			`{"metadata":{"x_request_id":"%d","request_start_ns":1},"metrics":{"request_latency":{"value":5},`+
				`"inter_chunk_latency":{"value":[1,2,3,4]}}}`, "\n", ``),
		"samples_t.jsonl": repeated(``, `{"doc_id":%d,"target":"a","arguments":[],"filtered_resps":[],"acc":1.0}`, "\n",
			``),
		"results.json": repeated(`{"results":{`, `"task%d":{"acc,none":0.5}`, `,`, `}}`),
		"hud.json": repeated(`[`,
			`{"benchmark":{"extra_info":{"args":{"seed":%d}}},"model":{"name":"m%[1]d"},"metric":{"name":"mean_ttft_ms",`+
				`"benchmark_values":[1]}}`, `,`, `]`),
		"data.js": repeated(`window.BENCHMARK_DATA = {"lastUpdate":1,"entries":{"s":[{"commit":{"id":"c"},`+
			`"date":1720492032018,"benches":[`,
			`{"name":"{\"name\":\"mean_ttft_ms\",\"description\":\"%d\"}","value":1,"extra":"{\"model\":\"m%[1]d\"}"}`, `,`,
			`]}]}}`),
		"guidellm.json": repeated(`{"benchmarks":[`,
			`{"metrics":{"request_latency":{"successful":{"mean":%d,"count":3}}}}`, `,`, `]}`),
		"agg.json": repeated(`[`, `{"hw":"h%d","conc":%[1]d,"tp":8,"mean_ttft":0.5}`, `,`, `]`),
		"document.json": repeated(`{"schema":"ttreport/v1","id":"r","points":[`,
			`{"key":{"tool":"vllm","isl":%d},"status":"ok","metrics":{"ttft":{"unit":"ms","mean":1}}}`, `,`, `]}`),
		"benchmark.log": repeated("",
			"[BENCHMARK] model_name m%d batch_size 1 input_length 60 output_length 20 latency(ms) 10.5", "\n", ""),
		"pairs.log":     repeated("", "[BENCHMARK] num_samples %d\n[BENCHMARK] total_latency(ms) 5", "\n", ""),
		"aiperf.csv":    repeated("Metric,avg,min,max,p1\n", `Time to First Token (ms),%d,1,2,3`, "\n", ""),
		"report.yaml":   repeated("version: '0.2'\nscenario: {}\nresults:\n", "  k%d: {a: [1, 2]}", "\n", "\n"),
		"text.txt":      repeated("", "word %d", " ", ""),
		"zeros.json.gz": bomb(1 << 30),
		"members.zip":   zipOf(200_000, 250),
		"large.zip":     zipOf(3, 120<<20),
		"layers.tar.gz": layers,
	}
}

// bomb is a gzip of zeros that are many times as much as they take; its own size is not that of the others.
func bomb(size int) func(io.Writer) {
	return func(w io.Writer) {
		z := gzip.NewWriter(w)
		block := make([]byte, 1<<20)
		for range size >> 20 {
			_, _ = z.Write(block)
		}
		_ = z.Close()
	}
}

// zipOf is an archive of equal members.
func zipOf(members, size int) func(io.Writer) {
	return func(w io.Writer) {
		z := zip.NewWriter(w)
		ten := []byte("0123456789")
		for i := range members {
			f, err := z.Create(fmt.Sprintf("folder/%d.json", i))
			if err != nil {
				return
			}
			_, _ = io.WriteString(f, `{"completed":8,"output_throughput":9.5,"x":"`)
			for range size / len(ten) {
				_, _ = f.Write(ten)
			}
			_, _ = io.WriteString(f, `"}`)
		}
		_ = z.Close()
	}
}

// layers is an archive within archives, each with a member that expands.
func layers(w io.Writer) {
	var inner bytes.Buffer
	bomb(100 << 20)(&inner)
	for depth := range 5 {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		t := tar.NewWriter(z)
		for _, name := range []string{"a.json.gz", fmt.Sprintf("layer%d.tar.gz", depth)} {
			_ = t.WriteHeader(&tar.Header{Name: name, Size: int64(inner.Len()), Mode: 0o600, Typeflag: tar.TypeReg})
			_, _ = t.Write(inner.Bytes())
		}
		_, _ = t.Close(), z.Close()
		inner = b
	}
	_, _ = w.Write(inner.Bytes())
}

// demanding are the kinds that came closest to a bound, or were beyond it once. TTREPORT_HOSTILE=all runs all.
const demanding = " keys.json string.json summary.json array-of-objects.json document.json data.js guidellm.json " +
	"layers.tar.gz large.zip "

// No input of 64 MB makes the real program take more than 256 MB, or not come to an end, or fail.
func TestHostileInputIsBounded(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	if testing.Short() {
		t.Skip("writes and reads 64 MB for each of many kinds of input")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "ttreport") // under this name the test binary is the program
	if err := os.Symlink(self, program); err != nil {
		t.Skip("no links here:", err)
	}
	for name, write := range hostile() {
		t.Run(name, func(t *testing.T) {
			if os.Getenv("TTREPORT_HOSTILE") != "all" && !strings.Contains(demanding, " "+name+" ") {
				t.Skip("one of the kinds that run with TTREPORT_HOSTILE=all alone")
			}
			inspectBounded(t, program, filepath.Join(dir, name), write)
		})
	}
}

// inspectBounded writes a file and inspects it within the bounds.
func inspectBounded(t *testing.T, program, file string, write func(io.Writer)) {
	h, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	buffered := bufio.NewWriterSize(h, 1<<20)
	write(buffered)
	if err := errors.Join(buffered.Flush(), h.Close()); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	cmd := exec.Command(program, "inspect", file)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOGC=") })
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	debug.FreeOSMemory() // a process begins with the peak of the one that started it
	begin := time.Now()
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	err = cmd.Run()
	timer.Stop()
	took := time.Since(begin)
	if err != nil {
		t.Fatalf("%v after %v: %.500s", err, took, out.String())
	}
	if !strings.Contains(out.String(), "1 file") && !strings.Contains(out.String(), " files") ||
		strings.Contains(out.String(), "reader-failed") {
		t.Errorf("%.500s", out.String())
	}
	use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Skip("the system does not say how much memory a process took")
	}
	busy := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.Logf("%3d MB, %.2f s, %.2f s of a processor", use.Maxrss>>10, took.Seconds(), busy.Seconds())
	if busy > mostTime {
		t.Errorf("took %s of a processor: %.300s", busy, out.String())
	}
	if use.Maxrss<<10 > mostMemory {
		t.Errorf("took %d MB: %.300s", use.Maxrss>>10, out.String())
	}
}
