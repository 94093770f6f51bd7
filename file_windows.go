package pawl

const (
	noFollow = 0
	noBlock  = 0
)
