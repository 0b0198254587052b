package decode

// Limits bounds what one document may ask of the machine. All limits of reading are stated here.
type Limits struct {
	Bytes  int64 // size of one file, after decompression
	Depth  int   // nesting of arrays and objects
	Values int   // top-level values in one file (lines of a JSON Lines file)
}

// DefaultLimits is generous for result files (the largest known is 34 MB, nested 9 deep) and small for a machine.
func DefaultLimits() Limits { return Limits{Bytes: 1 << 30, Depth: 100, Values: 5_000_000} }
