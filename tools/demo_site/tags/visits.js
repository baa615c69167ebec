// Counts a visit, as sites are asked to do at the top of their pages.
window.visits = { page: location.pathname, since: Date.now() };
