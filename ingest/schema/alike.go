package schema

// Alike groups what has one key, in the order of the first of each.
func Alike[T any, K comparable](list []T, key func(T) K) (out [][]T) {
	at := map[K]int{}
	for _, x := range list {
		k := key(x)
		i, has := at[k]
		if !has {
			i = len(out)
			at[k], out = i, append(out, nil)
		}
		out[i] = append(out[i], x)
	}
	return out
}
