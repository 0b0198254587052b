package llamabench_test

import (
	"fmt"
	"strings"
	"testing"
)

// The device is what ggml printed before the tables, where it is one kind.
func TestDeviceOfATable(t *testing.T) {
	const table = "| model | size | params | backend | ngl | test | t/s |\n" +
		"| llama 7B Q4_0 | 3.56 GiB | 6.74 B | X | 99 | tg128 | 57.67 ± 0.03 |\n"
	const vulkan = "ggml_vulkan: 0 = AMD Radeon RX 7900 XTX (RADV NAVI31) (radv) | uma: 0 | fp16: 1\n"
	const cuda = "ggml_cuda_init: found 1 CUDA devices:\n" +
		"  Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes\n"
	const rocm, two = "  Device 0: AMD Radeon RX 7900 XTX, gfx1100 (0x1100)\n" +
		"  Device 1: AMD Radeon RX 7900 XTX, gfx1100 (0x1100)\n", "AMD Radeon RX 7900 XTX, AMD Radeon RX 7900 XTX"
	for text, want := range map[string]string{
		vulkan: "AMD Radeon RX 7900 XTX", vulkan + vulkan: "AMD Radeon RX 7900 XTX", cuda: "NVIDIA GeForce RTX 4090",
		"ggml_metal_init: GPU name:   Apple M2 Max\n":   "Apple M2 Max",
		"ggml_metal_init: found device: Apple M1 Pro\n": "Apple M1 Pro",
		"ggml_vulkan: 0 = Intel(R) Arc(tm) A770 Graphics (DG2) (Intel open-source Mesa driver) | uma: 0\n": "" +
			"Intel(R) Arc(tm) A770 Graphics",
		vulkan + cuda: "", "": "", "Device: none\n": "",
		rocm: two, rocm + vulkan: two,
	} {
		if r := reader.Must(t, "x.txt", text+table); len(r.Points) != 1 || r.Facts.Device.Name != want {
			t.Errorf("%q: %q, want %q", text, r.Facts.Device.Name, want)
		}
	}
}

// A model in several files has the name of the model, and a device the same name under Vulkan as under ROCm.
func TestNamesOfRows(t *testing.T) {
	const row = `{"model_filename":"/m/GLM-4.6-UD-Q4_K_XL-00001-of-00005.gguf","gpu_info":"AMD Radeon 8060S Graphics%s",` +
		`"backends":"%s","n_gpu_layers":99,"n_prompt":0,"n_gen":128,"avg_ts":9.12,"stddev_ts":0.1}`
	for backend, driver := range map[string]string{"Vulkan": " (RADV GFX1151)", "ROCm": ""} {
		f := reader.Must(t, "x.jsonl", fmt.Sprintf(row, driver, backend)).Facts
		if f.Model.ID != "GLM-4.6-UD-Q4_K_XL" || f.Device.Name != "AMD Radeon 8060S Graphics" {
			t.Errorf("%s: %q on %q", backend, f.Model.ID, f.Device.Name)
		}
	}
}

// A benchmark that stopped before its first result leaves a table without rows, which is said.
func TestTableWithoutRows(t *testing.T) {
	r := reader.Must(t, "x.log", "| model | size | params | backend | ngl | test | t/s |\n"+
		"| --- | --- | --- | --- | --- | --- | --- |\n"+
		"ggml-rpc.cpp:690: Remote RPC server crashed\n")
	if len(r.Points) != 0 || len(r.Problems) != 1 || r.Problems[0].Code != "empty-table" {
		t.Errorf("%d points, problems %v", len(r.Points), r.Problems)
	}
}

// Builds before 2900 print a blank in the name of a test.
func TestOldTests(t *testing.T) {
	r := reader.Must(t, "old.md", "| model | size | params | backend | test | t/s |\n|---|---|---|---|---|---|\n"+
		"| llama 7B Q4_0 | 3.56 GiB | 6.74 B | CUDA | pp 512 | 2368.80 ± 93.24 |\n"+
		"| llama 7B Q4_0 | 3.56 GiB | 6.74 B | CUDA | tg 128 | 131.42 ± 0.59 |\n")
	if len(r.Points) != 2 || *r.Points[0].Key.ISL != 512 || *r.Points[1].Key.OSL != 128 {
		t.Errorf("%d points, %v", len(r.Points), r.Problems)
	}
}

// Several GPUs are another device than one of them, as in JSON; Metal prints its one device several times.
func TestSeveralDevices(t *testing.T) {
	const rows = "| model | size | params | backend | test | t/s |\n|---|---|---|---|---|---|\n" +
		"| llama 7B Q4_0 | 3.56 GiB | 6.74 B | CUDA | pp512 | 2368.80 ± 93.24 |\n"
	one, two := "  Device 0: NVIDIA H100 PCIe, compute capability 9.0\n", "  Device 1: NVIDIA H100 PCIe, compute\n"
	metal := "ggml_metal_init: found device: Apple M2\nggml_metal_init: picking default device: Apple M2\n"
	for text, want := range map[string]string{
		one + rows: "NVIDIA H100 PCIe",
		one + two + rows + "\n" + one + two + rows: "NVIDIA H100 PCIe, NVIDIA H100 PCIe",
		one + rows + "\n" + one + two + rows:       "", // nothing says which a run is of
		rows + metal:                               "Apple M2",
		metal + rows:                               "Apple M2",
	} {
		if got := reader.Must(t, "x.log", text).Facts.Device.Name; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Generation behind a prompt, as ik_llama.cpp has it, is that speed alone, in a table and in JSON.
func TestGenerationBehindAPrompt(t *testing.T) {
	for name, text := range map[string]string{
		"x.md": "| model | size | params | test | t/s |\n|---|---|---|---|---|\n" +
			"| llama 7B Q4_0 | 3.56 GiB | 6.74 B | tg64@pp512 | 8.87 ± 0.01 |\n",
		"x.json": `[{"model_filename":"m.gguf","n_prompt":512,"n_gen":64,"avg_ts":8.87,"stddev_ts":0.01,` +
			`"test":"tg64@pp512"}]`,
	} {
		r := reader.Must(t, name, text)
		if len(r.Points) != 1 || len(r.Problems) != 0 {
			t.Fatalf("%s: %d points, %v", name, len(r.Points), r.Problems)
		}
		p := r.Points[0]
		if x, _ := p.Value("output_tps", "value"); x != 8.87 || *p.Key.ISL != 0 || *p.Key.OSL != 64 ||
			p.Key.Dims["depth"] != "512" {
			t.Errorf("%s: %v of %s", name, x, p.Key)
		}
	}
}

// A table that does not say which model it is of is named and not read; one that is quoted is read, once.
func TestTablesOfPeople(t *testing.T) {
	const table = "| model | size | params | test | t/s |\n|---|---|---|---|---|\n" +
		"| llama 7B Q4_0 | 3.56 GiB | 6.74 B | tg128 | %s ± 0.01 |\n"
	whole, other := fmt.Sprintf(table, "8.87"), strings.ReplaceAll("\n"+fmt.Sprintf(table, "9.12"), "\n|", "\n> |")
	quoted := strings.ReplaceAll("\n"+whole, "\n|", "\n> |")
	const unnamed = "\n| threads | test | t/s |\n|---|---|---|\n| 4 | pp64 | 312.00 ± 0.70 |\n"
	r := reader.Must(t, "x.md", whole+quoted+other+unnamed)
	told := ""
	for _, p := range r.Problems {
		told += p.Code + " "
	}
	if len(r.Points) != 2 || told != "no-model printed-again " {
		t.Errorf("%d points, %v", len(r.Points), r.Problems)
	}
}
