package decode

// Limits bounds what one document may ask of the machine. All limits of reading are stated here.
type Limits struct {
	Bytes  int64 // size of one file, after decompression
	Depth  int   // nesting of arrays and objects
	Values int   // top-level values in one file (lines of a JSON Lines file)
}

// maxNodes bounds the tree of one document: a hundred bytes each, it is what a small file of brackets would fill memory
// with. Arrays of numbers count once.
const maxNodes = 8_000_000

// maxRatio bounds how much larger a compressed file may become.
const maxRatio = 200

// DefaultLimits is generous for result files (the largest known is 34 MB, nested 9 deep) and small for a machine.
func DefaultLimits() Limits { return Limits{Bytes: 1 << 30, Depth: 100, Values: 5_000_000} }
