"""What is computed: values, operations, rows, recurrent groups."""
