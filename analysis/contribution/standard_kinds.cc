#include "analysis/contribution/kinds.h"

namespace reprise {

const std::string_view kStandardKinds =
    R"(# Where the time of a page goes. The first rule that fits a call counts.

redirect:          status=301,302,303,307,308 phase!=queued,dns,connect,tls
redirect:          phase=redirect
ads:               category=ad
third party:       party=third category!=cdn
connection:        phase=queued,dns,connect,tls
AJAX:              resource=xhr,fetch,eventsource,ping
download:          phase=receive
CDN:               cdn=hit,miss,yes
CDN:               category=cdn
server:            kind=request,phase,span
client execution:  kind=task,measure
gaps:              client execution

fix redirect:          Link to the final URL, and answer on the first host with it.
fix ads:               Load ads after the page's own content, and reserve their space.
fix third party:       Load it later, with async or defer, host it yourself, or do without it.
fix connection:        Use fewer hosts and HTTP/2 or later; preconnect to those needed first.
fix AJAX:              Send the data with the document, or request it before the scripts run.
fix download:          Send fewer bytes (compress, resize, cache): small files wait for large ones.
fix CDN:               Cache at the edge for longer, and warm what is missed often.
fix server:            Find the slow part in the server's spans; send the document's head early.
fix client execution:  Run less script and wait for no timer before the page is shown.
)";

}  // namespace reprise
