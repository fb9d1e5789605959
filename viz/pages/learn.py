"""Learn: a copy training while it runs, and how the shipped copy model learned."""

from __future__ import annotations

import streamlit as st

from viz.frame import about, open_page
from viz.panels.learn.panel import learn_panel
from viz.panels.learn.runs import expected, start, tell_problems
from viz.panels.learn.settings import choose_settings, offer_experiments

ABOUT = r"""
The task is to copy: 3 to 10 letters from a to p in, the same letters out. The model is the same encoder-decoder
Transformer as on the other pages (Vaswani et al. 2017), only smaller, and each step shows it 64 random sequences. The
loss is the cross-entropy of section 5.4 there: with label smoothing $\varepsilon$ the target is
$1-\varepsilon$ on the right token plus $\varepsilon$ spread evenly over all 20, so that the loss can't reach 0. The
learning rate rises in a straight line over the first steps and falls along a cosine to 0 at the last (Loshchilov &
Hutter 2017); the optimiser is AdamW.

**The diagonal.** The source is `<s> b a d c a f e </s>`: 9 columns. The decoder reads `<s> b a d c a f e` and writes
`b a d c a f e </s>`: 8 rows. Row $t$ has to write the letter in column $t + 1$, so its
attention should be largest there. "On the diagonal" counts the rows where it is. The letter a stands there twice: only
its position tells which of them comes next. *Mean weight there* is the mean of the entries $A_{t,t+1}$.
"""


def page() -> None:
    """The whole page."""
    open_page(
        "learn",
        "Learn",
        "A small Transformer learns to copy letters while you watch: its cross-attention turns into a diagonal.",
        choose=False,
    )
    problems = st.container()
    settings = choose_settings()
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        started = st.button("Start a training", type="primary", icon=":material/play_arrow:", key="start")
        st.markdown("or an experiment:", width="content")
        tried = offer_experiments()
    st.caption(expected(settings))
    if started or tried is not None:
        start(tried or settings)
    with problems:
        tell_problems()
    learn_panel()
    with about():
        st.latex(
            r"\text{diagonal} = \frac{1}{n+1} \sum_{t=1}^{n+1} "
            r"\left[\, \operatorname{arg\,max}_s A_{t,s} = t + 1 \,\right], "
            r"\qquad A \in \mathbb{R}^{(n+1) \times (n+2)}"
        )
        st.markdown(ABOUT)


page()
