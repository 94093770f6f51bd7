package journalfile

const noFollow = 0
