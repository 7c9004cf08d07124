"""The collector: takes responses over HTTP, keeps them, and shows estimates. Nothing here can hold a true answer."""
