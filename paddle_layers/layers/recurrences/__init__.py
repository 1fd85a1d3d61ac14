"""Recurrent layers: LSTM, GRU and simple RNN over sequences, single steps, recurrent groups."""
