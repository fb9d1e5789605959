"""The model builder on the page Inside: presets, typed sizes, and what it says of a model that can't be."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.opened import open_app, texts


@pytest.fixture
def page() -> AppTest:
    return open_app("inside")


def test_it_opens_on_the_papers_model(page: AppTest) -> None:
    assert "**63,119,496 parameters**, 252.5 MB in float32" in texts(page)
    assert "Without sharing: 101,007,496 parameters, 404.0 MB." in texts(page)
    assert page.number_input("build-d_model").value == 512


def test_a_preset_and_a_typed_size(page: AppTest) -> None:
    page.button("preset-1").click().run()
    assert "**93,322,496 parameters**, 373.3 MB in float32" in texts(page)
    page.number_input("build-encoder_layers").set_value(3).run()
    # Three encoder layers of 3,152,384 parameters fewer.
    assert f"**{93_322_496 - 3 * 3_152_384:,} parameters**, 335.5 MB in float32" in texts(page)
    assert "encoder_layers=3" in str(page.query_params["shape"])


def test_sizes_that_do_not_fit_are_answered_by_a_sentence(page: AppTest) -> None:
    page.number_input("build-heads").set_value(7).run()
    assert "d_model 512 does not split evenly over 7 heads" in texts(page)
    page.number_input("build-heads").set_value(4).run()
    assert "**63,119,496 parameters**, 252.5 MB in float32" in texts(page)


def test_a_link_holds_the_shape() -> None:
    page = open_app("inside", shape="src=100,tgt=120,N=2,d_model=64,d_ff=128,h=4")
    assert page.number_input("build-target_vocabulary").value == 120
    broken = open_app("inside", shape="src=100,hh=3")
    assert "'hh=3' is no setting of a shape" in texts(broken)
    assert not broken.exception
